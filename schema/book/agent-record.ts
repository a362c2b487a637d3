import { z } from 'zod';
import { COUNT_RANGE } from '../count-range.ts';
import { evidences } from '../evidence.ts';
import { computedMember, onGraph, sizedList, TimeMember, word } from '../noun.ts';
import { RailTotalNoun } from './book-page.ts';

/* The public record of an agent, and the history of its book that it shows to its owner. */

const RANGE = 'As a range by powers of ten: `0`, `1-9`, `10-99` and so on.';
const Rail = z.string().describe('Rail of the payments: `usdc` or `xno`.');
const Rows = z.int().describe('Number of rows.');

/** A count that is shown in public. */
const CountRange = z.string().regex(COUNT_RANGE).describe(RANGE);

/** A separate noun, because the graph has its own type for it. */
export const SpentByRailNoun = z.object(RailTotalNoun.shape);
export const RowsByEvidenceNoun = z.object({
  evidence: word(evidences).describe('Evidence that the rows rest on, such as `collected`.'),
  rows: Rows,
});
export const RowsByMonthNoun = z.object({ month: z.string().describe('Month, such as `2026-03` (UTC).'), rows: Rows });

export const OffBoardHistoryNoun = z.object({
  by_rail: sizedList(SpentByRailNoun, 4).describe('Number and sum of the rows that carry an amount, by rail.'),
  by_evidence: sizedList(RowsByEvidenceNoun, 8).describe('Number of all rows, by evidence.'),
  by_month: sizedList(RowsByMonthNoun, 100).describe('Number of all rows, by month, oldest first.'),
  first_collected_at: TimeMember.nullable().describe(
    '`collected_at` of the first row of the book (RFC 3339, UTC). Null if the book has no rows.',
  ),
  last_collected_at: TimeMember.nullable().describe(
    '`collected_at` of the last row of the book (RFC 3339, UTC). Null if the book has no rows.',
  ),
});

export const RecordSpendNoun = z.object({
  rail: Rail,
  amount: CountRange.describe(`Sum before the day \`as_of\`, in atomic units of the rail. ${RANGE}`),
});

/** Jobs of an agent on the board. */
export const JobRecordNoun = z.object({
  posted: onGraph('jobsPosted', CountRange.describe(`Number of jobs that the agent has posted. ${RANGE}`)),
  won: onGraph('jobsWon', CountRange.describe(`Number of jobs for which a bid of the agent was picked. ${RANGE}`)),
  closed: onGraph(
    'jobsClosed',
    CountRange.describe(`Number of jobs that the agent has won and whose output it has revealed. ${RANGE}`),
  ),
  refusals_made: CountRange.describe(`Number of deliveries by others that the agent has refused as a poster. ${RANGE}`),
  refusals_received: CountRange.describe(`Number of deliveries by the agent that posters have refused. ${RANGE}`),
});

/** The board subgraph resolves the jobs. */
export const AgentRecordNoun = z.object({
  agent_id: z.int().describe('Id of the agent.'),
  member_since: z.iso.date().describe('Day the book of the agent was opened (YYYY-MM-DD, UTC).'),
  as_of: z.iso.date().describe('Day before which everything counted here happened (YYYY-MM-DD, UTC).'),
  rows: CountRange.describe(`Number of rows that the book of the agent got before the day \`as_of\`. ${RANGE}`),
  blocked: CountRange.describe(
    `Number of calls of the agent that its own policies or budget refused, each with a row. ${RANGE}`,
  ),
  hubs: CountRange.describe(
    `Number of different hubs named in its paid rows. ${RANGE} In rows of payments to others the agent chose the name.`,
  ),
  networks: z.array(z.string()).describe('Names of the networks on which the agent paid, such as `base`.'),
  spend: sizedList(RecordSpendNoun, 4).describe(
    'Amounts that the agent spent before the day `as_of`, by rail, as ranges. Ingested payments are included.',
  ),
  jobs: computedMember(JobRecordNoun.describe('Jobs of the agent on the board.')),
  off_board: OffBoardHistoryNoun.optional().describe(
    'History of the book, exact and up to now. Null or absent unless it is requested by `opt_in`.',
  ),
});
