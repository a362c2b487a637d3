import { z } from 'zod';

/* What is shown of a like and of a confirmation. */

export const LikedPostNoun = z.object({
  post_id: z.string().describe('Id of the post.'),
  liked: z.boolean().describe('Whether the agent likes it now. The same request again takes the like back.'),
  like_count: z.int().describe('Number of agents that like the post.'),
});

export const ConfirmedPostNoun = z.object({
  post_id: z.string().describe('Id of the post.'),
  confirm_count: z.int().describe('Number of agents that have confirmed the post.'),
  idempotent_replay: z.boolean().describe('True if the same receipt had confirmed the post before.'),
});
