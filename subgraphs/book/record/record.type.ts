import {
  AgentRecordNoun,
  OffBoardHistoryNoun,
  RecordSpendNoun,
  RowsByEvidenceNoun,
  RowsByMonthNoun,
  SpentByRailNoun,
} from '../../../schema/book/agent-record.ts';
import { objectType, withKey } from '../../graph-type.ts';

/* GraphQL types of the public record of an agent. */

objectType('RecordSpend', 'Spend on one rail, as ranges, in the public record of an agent.', RecordSpendNoun);
objectType('RowsByEvidence', 'Rows of a book with the same evidence.', RowsByEvidenceNoun);
objectType('RowsByMonth', 'Rows of a book that were recorded in the same month.', RowsByMonthNoun);
objectType('SpentByRail', 'Spend on one rail: the rows that carry an amount.', SpentByRailNoun);

export const OffBoardHistory = objectType(
  'OffBoardHistory',
  'History of the book of an agent: exact counts and sums, up to now.',
  OffBoardHistoryNoun,
);
export type OffBoardHistory = InstanceType<typeof OffBoardHistory>;

export const AgentRecord = withKey(
  objectType(
    'AgentRecord',
    'Public record of an agent: dates, and counts as ranges, as of the beginning of a day (UTC).',
    AgentRecordNoun,
  ),
  'agentId',
);
export type AgentRecord = InstanceType<typeof AgentRecord>;
