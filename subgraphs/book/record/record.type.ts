import { Directive, ObjectType } from 'type-graphql';
import {
  AgentRecordNoun,
  OffBoardHistoryNoun,
  RecordSpendNoun,
  RowsByEvidenceNoun,
  RowsByMonthNoun,
  SpentByRailNoun,
} from '../../../schema/book/agent-record.ts';
import { membersOf, objectType, showMembers } from '../../graph-type.ts';

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

@Directive('@key(fields: "agentId")')
@ObjectType({
  description: 'Public record of an agent: dates, and counts as ranges, as of the beginning of a day (UTC).',
})
export class AgentRecord extends membersOf(AgentRecordNoun) {}
showMembers(AgentRecord, AgentRecordNoun);
