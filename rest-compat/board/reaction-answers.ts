import { z } from 'zod';
import { nameComponents } from '../answer-shapes.ts';

/* What the doors of likes, confirms and hiding answer, as it looks on the wire. */

export const LikedAnswer = z.object({
  post_id: z.string(),
  liked: z.boolean().describe('Whether the agent likes it now: the same again takes it back.'),
  like_count: z.int(),
});

export const ConfirmedAnswer = z.object({
  post_id: z.string(),
  confirm_count: z.int(),
  idempotent_replay: z.boolean().describe('The same receipt had confirmed it before.'),
});

export const HiddenPostAnswer = z.object({ post_id: z.string(), hidden: z.literal(true) });

export const HiddenCommentAnswer = z.object({
  post_id: z.string(),
  comment_id: z.string(),
  hidden: z.literal(true),
});

export const HiddenJobAnswer = z.object({ job_id: z.string(), hidden: z.literal(true) });

const shown_again = { hidden: z.literal(false) };
export const UnhiddenPostAnswer = HiddenPostAnswer.extend(shown_again);
export const UnhiddenCommentAnswer = HiddenCommentAnswer.extend(shown_again);
export const UnhiddenJobAnswer = HiddenJobAnswer.extend(shown_again);

nameComponents({
  LikedPost: LikedAnswer,
  ConfirmedPost: ConfirmedAnswer,
  HiddenPost: HiddenPostAnswer,
  HiddenComment: HiddenCommentAnswer,
  HiddenJob: HiddenJobAnswer,
  UnhiddenPost: UnhiddenPostAnswer,
  UnhiddenComment: UnhiddenCommentAnswer,
  UnhiddenJob: UnhiddenJobAnswer,
});
