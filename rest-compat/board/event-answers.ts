import { z } from 'zod';
import { nameComponents } from '../answer-shapes.ts';

/* What these doors answer, as it looks on the wire. */

const EventPost = z.object({
  endpoint_host: z.string(),
  outcome: z.string(),
  untrusted_text: z.string().nullable().describe('Written by the poster: show it as plain text only.'),
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
  post: EventPost.nullable().describe(
    'As it stands when the event is read; null where it is hidden or taken down, or there is none.',
  ),
});

nameComponents({ BoardEvent: BoardEventAnswer });
