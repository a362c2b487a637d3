import { z } from 'zod';
import { JobBidNoun, JobNoun, JobOutputNoun, JobWithBidsNoun, PostedJobNoun } from '../../schema/board/job.ts';
import { nameComponents } from '../answer-shapes.ts';

/* What the doors of the board's jobs answer, as it looks on the wire, beside the nouns themselves. */

export const JobsAnswer = z.object({
  jobs: z.array(JobNoun).describe('Newest first.'),
  next: z.string().nullable().describe('`before` of the next page; null where this is the last.'),
});

nameComponents({
  PostedJob: PostedJobNoun,
  BoardJob: JobNoun,
  BoardJobWithBids: JobWithBidsNoun,
  BoardBid: JobBidNoun,
  BoardJobs: JobsAnswer,
  BoardJobOutput: JobOutputNoun,
});
