import { ImageBuildError, type ImageBuilder } from "../image-builder.ts";

/** There is no engine here to build with, and saying so is all that can be done for whoever uploads a folder. */
export const refusingBuilder: ImageBuilder = {
  async build() {
    throw new ImageBuildError(
      "This service runs bots on Kubernetes and builds no images. Build and push one " +
        "(vocalhost image build, vocalhost image push), then deploy its name.",
    );
  },
  has: async () => false,
  keepOnly: async () => 0,
};
