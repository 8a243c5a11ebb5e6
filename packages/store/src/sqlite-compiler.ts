import {
  type BinaryOperationNode,
  ColumnNode,
  type LimitNode,
  OperatorNode,
  ReferenceNode,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely";

/** What partial indexes ask of a column. */
const ASKED_BY_INDEXES: Record<string, readonly string[]> = { state: ["!=", "<>"], phase: ["="] };
const WORD = /^[A-Za-z]+$/;

/**
 * SQLite looks at some values before it decides how to run a statement: at a limit, and at what is compared as in the
 * condition of a partial index. With a parameter there it compiles the statement each time it is run, which takes several
 * times as long as running it. So the few there are go into its text.
 */
export class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { rightOperand } = node;
    const word = ValueNode.is(rightOperand) && isAskedByIndex(node) ? rightOperand.value : undefined;
    const isWord = typeof word === "string" && WORD.test(word);
    super.visitBinaryOperation(isWord ? { ...node, rightOperand: ValueNode.createImmediate(word) } : node);
  }

  // Only this: others are the callers' choice, and each would be a statement of its own.
  protected override visitLimit(node: LimitNode): void {
    const isOne = ValueNode.is(node.limit) && node.limit.value === 1;
    super.visitLimit(isOne ? { ...node, limit: ValueNode.createImmediate(1) } : node);
  }
}

function isAskedByIndex({ leftOperand, operator }: BinaryOperationNode): boolean {
  if (!ReferenceNode.is(leftOperand) || !ColumnNode.is(leftOperand.column) || !OperatorNode.is(operator))
    return false;
  return ASKED_BY_INDEXES[leftOperand.column.column.name]?.includes(operator.operator) ?? false;
}
