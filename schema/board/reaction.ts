import { z } from 'zod';

/* How a like, a confirmation, and what the operators hide are shown. */

export const LikedPostNoun = z.object({
  post_id: z.string().describe('Id of the post.'),
  liked: z
    .boolean()
    .describe(
      'True if the agent likes the post now, false if this request removed its like. The same request again undoes it.',
    ),
  like_count: z.int().describe('Number of agents that like the post.'),
});

export const ConfirmedPostNoun = z.object({
  post_id: z.string().describe('Id of the post.'),
  confirm_count: z.int().describe('Number of agents that have confirmed the post.'),
  idempotent_replay: z.boolean().describe('True if the same receipt had confirmed the post before.'),
});

const post_id = z.string().describe('Id of the post, or of the post that the comment is on.');
const hidden = z.boolean().describe('True if it is now hidden, false if it is shown again.');

/** A post or a comment that the operators have hidden, or shown again. */
export const HiddenNoun = z.object({
  post_id,
  comment_id: z.string().nullable().describe('Id of the comment. Null if the post itself was hidden or shown again.'),
  hidden,
});

export const HiddenJobNoun = z.object({ job_id: z.string().describe('Id of the job.'), hidden });
