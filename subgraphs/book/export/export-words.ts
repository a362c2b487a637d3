import type { EmptyReason } from '../../../schema/export-coverage.ts';
import type { PullFormat } from '../../../schema/pull-export.ts';
import type { JournalFormat, JournalUnit, StreamFormat } from '../../../schema/requests/export.ts';
import { graphEnum } from '../../graph-enum.ts';

/* Words of exports, as the graph's enums. */

export const StreamFormatWord = graphEnum<StreamFormat>('BookStreamFormat', 'In which form a whole book goes out.', {
  csv: 'Lines under a line of names (RFC 4180).',
  ndjson: 'A JSON object a line, and at the end one that says how many there were.',
  parquet: 'Apache Parquet, as bytes.',
});

export const JournalFormatWord = graphEnum<JournalFormat>('JournalFormat', 'In which form a journal goes out.', {
  csv: 'Lines for an accountant, under a line of names.',
  ledger: 'As ledger and hledger read it.',
});

export const JournalUnitWord = graphEnum<JournalUnit>('JournalUnit', 'What an entry of a journal is for.', {
  row: 'One entry for each row.',
  day: 'One entry for each combination of UTC day, rail, status and kind of spend.',
});

export const PullFormatWord = graphEnum<PullFormat>('PullFormat', 'In which form a published document is signed.', {
  json: 'As an audit pack.',
  csv: 'As text.',
});

export const EmptyReasonWord = graphEnum<EmptyReason>('EmptyReason', 'Why no row stands in an export.', {
  empty_by_policy: 'All was looked at, and what was asked for is empty.',
  empty_by_drain: 'The book was not looked at to its end in time.',
});
