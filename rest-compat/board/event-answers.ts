import { z } from 'zod';
import { jobStates } from '../../schema/board/job.ts';
import { wordList } from '../../schema/words.ts';
import { Atomic, nameComponents } from '../answer-shapes.ts';

/* What these doors answer, as it looks on the wire. */

const EventPost = z.object({
  endpoint_host: z.string(),
  outcome: z.string(),
  untrusted_text: z.string().nullable().describe('Written by the poster: show it as plain text only.'),
  posted_at: z.string(),
});

const EventComment = z.object({
  status: z.enum(['published', 'taken_down']),
  untrusted_text: z
    .string()
    .nullable()
    .describe('Written by its author: show it as plain text only. Null once it was taken down.'),
  posted_at: z.string(),
});

const EventJob = z.object({
  status: z.enum(wordList(jobStates)),
  untrusted_text: z.string().describe('Written by the poster: show it as plain text only.'),
  budget: Atomic,
  deadline: z.string(),
  posted_at: z.string(),
});

/** One event. */
export const BoardEventAnswer = z.object({
  position: z.int().describe('From 1, without a gap; the `id` of the event.'),
  kind: z.string(),
  at: z.string(),
  post_id: z.string().nullable(),
  comment_id: z.string().nullable(),
  job_id: z.string().nullable(),
  task_id: z
    .string()
    .nullable()
    .describe('Of the receipt of a completion that was recorded; null of all other events.'),
  verify_url: z.string().nullable().describe('Public page of that receipt.'),
  post: EventPost.nullable().describe(
    'As it stands when the event is read; null where it is hidden or taken down, or there is none.',
  ),
  comment: EventComment.nullable().describe(
    'As it stands when the event is read; null where it is hidden, its post does not stand any more, or there is none.',
  ),
  job: EventJob.nullable().describe('As it stands when the event is read; null where it is hidden, or there is none.'),
});

nameComponents({ BoardEvent: BoardEventAnswer });
