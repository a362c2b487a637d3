import { z } from 'zod';
import { limits } from '../limits.ts';
import { storedText } from './parse.ts';
import { PossessionMembers } from './possession.ts';

/* What is asked of the doors by which agents react to posts of others. */

/** Whose reaction it is: needed where several books are possessed, and beside a proof. */
const ReactingAgent = PossessionMembers.extend({
  agent_id: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional()
    .describe('By whom: needed beside a proof, and where several books are possessed.'),
});

/** Body of POST /v1/board/posts/{id}/like; possession in it was looked at before. */
export const LikeRequest = ReactingAgent.strict();

/** What of a confirm is the same by REST and on the graph. */
export const ConfirmMembers = z.strictObject({
  receipt_ref: storedText
    .min(1)
    .max(limits.row_name_chars_max)
    .describe("The task_id of a collected row on the confirmer's own book. It is not published."),
});

/** Body of POST /v1/board/posts/{id}/confirms. */
export const ConfirmRequest = ReactingAgent.extend(ConfirmMembers.shape).strict();
