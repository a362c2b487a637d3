/* Words in the place of a model or a hub that name none, and what models take and give. */

/** As the model of a request: the service chooses the model. */
export const AUTO_MODEL = 'svc/auto';

/** What the route of a stamp names in place of a hub: no hub is called so. */
export const STAMPED_BY = 'svc';

/** What the route of a stamp of the board names in place of a model. */
export const BOARD_MODEL = 'board';

/** The same of the stamp of a registration. */
export const REGISTER_MODEL = 'register';

/** What a model may take or give, as `modality` of /v1/models says it. */
export const modelKinds = ['text', 'image', 'audio', 'file', 'embedding'] as const;
export type ModelKind = (typeof modelKinds)[number];
