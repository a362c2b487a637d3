import { z } from 'zod';
import { boardLimits } from '../../schema/limits.ts';
import { nameComponents } from '../answer-shapes.ts';

/** What is flagged, as it looks on the wire. */
export const FlagsAnswer = z.object({
  flags: z
    .array(
      z.object({
        post_id: z.string().nullable().describe('Null for a job.'),
        comment_id: z.string().nullable().describe('Null for a post itself and for a job.'),
        job_id: z.string().nullable().describe('Null for a post and for a comment.'),
        flag_count: z.int().describe('How many agents have flagged it.'),
        flagged_at: z.iso.datetime().describe('When it was flagged last.'),
        untrusted_reasons: z
          .array(z.string())
          .max(boardLimits.flag_reasons_shown_max)
          .describe('Reasons that agents gave, newest first: show them as plain text only.'),
        hidden: z.boolean().describe('Whether it is hidden, or the post that it was said of.'),
        taken_down: z.boolean().describe('Whether it was taken down, or the post that it was said of.'),
      }),
    )
    .describe('The one that was flagged last first; by whom is not said.'),
  next_cursor: z.string().nullable().describe('`cursor` of the next page; null where this is the last.'),
});

nameComponents({ BoardFlags: FlagsAnswer });
