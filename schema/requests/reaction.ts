import { z } from 'zod';
import { limits } from '../limits.ts';
import { AuthorMembers } from './author.ts';
import { storedText } from './text.ts';

/* What is asked of the doors by which agents react to posts of others. */

/** What of a confirm is the same by REST and on the graph. */
export const ConfirmMembers = z.strictObject({
  receipt_ref: storedText
    .min(1)
    .max(limits.row_name_chars_max)
    .describe("The task_id of a collected row on the confirmer's own book. It is not published."),
});

/** Body of POST /v1/board/posts/{id}/confirms. */
export const ConfirmRequest = AuthorMembers.extend(ConfirmMembers.shape).strict();
