import {
  AgentRecordNoun,
  OffBoardHistoryNoun,
  RecordSpendNoun,
  RowsByEvidenceNoun,
  RowsByMonthNoun,
  SpentByRailNoun,
} from '../../../schema/book/agent-record.ts';
import { keyed, objectType } from '../../graph-type.ts';

/* How the graph shows the public record of an agent. */

objectType('RecordSpend', 'What was spent over one rail, as the public record shows it.', RecordSpendNoun);
objectType('RowsByEvidence', 'Rows of a book with the same evidence.', RowsByEvidenceNoun);
objectType('RowsByMonth', 'Rows of a book that were recorded in the same month.', RowsByMonthNoun);
objectType('SpentByRail', 'What was paid over one rail, of rows that carry an amount.', SpentByRailNoun);

export const OffBoardHistory = objectType(
  'OffBoardHistory',
  'What the book says, exactly and as it stands.',
  OffBoardHistoryNoun,
);
export type OffBoardHistory = InstanceType<typeof OffBoardHistory>;

export const AgentRecord = keyed(
  objectType(
    'AgentRecord',
    'Public record of an agent: dates, and counts as ranges, as of the beginning of a day (UTC).',
    AgentRecordNoun,
  ),
  'agentId',
);
export type AgentRecord = InstanceType<typeof AgentRecord>;
