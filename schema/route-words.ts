/* Words in place of a model or hub, and the inputs and outputs of models. */

/** As the model of a request: the service chooses the model. */
export const AUTO_MODEL = 'svc/auto';

/** In the route of a stamp, in place of a hub. No hub has this name. */
export const STAMPED_BY = 'svc';

/** In the route of a stamp of the board, in place of a model. */
export const BOARD_MODEL = 'board';

/** The same in the route of the stamp of a registration. */
export const REGISTER_MODEL = 'register';

/** Inputs and outputs of a model, as `modality` of /v1/models states them. */
export const modelKinds = ['text', 'image', 'audio', 'file', 'embedding'] as const;
export type ModelKind = (typeof modelKinds)[number];
