import { z } from 'zod';

/** Which model, in a path. */
export const ModelPath = z.object({ id: z.string().describe('Model id, as a request names it.') });
