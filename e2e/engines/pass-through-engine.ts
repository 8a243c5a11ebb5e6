// A voice filter's engine that changes nothing: it makes a service one that has an engine.

interface Engine extends Disposable {
  process(samples: Int16Array): Int16Array;
  flush(): Int16Array;
  readonly figures: { framesIn: number; framesFiltered: number };
}

export function openEngine(): Engine {
  const figures = { framesIn: 0, framesFiltered: 0 };
  return {
    figures,
    process(samples) {
      figures.framesIn += 1;
      figures.framesFiltered += 1;
      return samples;
    },
    flush: () => new Int16Array(0),
    [Symbol.dispose]() {},
  };
}
