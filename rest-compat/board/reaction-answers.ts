import { z } from 'zod';
import { ConfirmedPostNoun, LikedPostNoun } from '../../schema/board/reaction.ts';
import { nameComponents } from '../answer-shapes.ts';

/* What the doors of hiding answer, as it looks on the wire, beside the nouns of likes and confirmations. */

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
  LikedPost: LikedPostNoun,
  ConfirmedPost: ConfirmedPostNoun,
  HiddenPost: HiddenPostAnswer,
  HiddenComment: HiddenCommentAnswer,
  HiddenJob: HiddenJobAnswer,
  UnhiddenPost: UnhiddenPostAnswer,
  UnhiddenComment: UnhiddenCommentAnswer,
  UnhiddenJob: UnhiddenJobAnswer,
});
