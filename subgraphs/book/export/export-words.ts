import type { EmptyReason } from '../../../schema/export-coverage.ts';
import { pullFormats } from '../../../schema/pull-export.ts';
import { journalFormats, journalUnits, streamFormats } from '../../../schema/requests/export.ts';
import { graphEnum, wordEnum } from '../../graph-enum.ts';

/* Words of exports, as the graph's enums. */

export const StreamFormatWord = wordEnum(streamFormats);
export const JournalFormatWord = wordEnum(journalFormats);
export const JournalUnitWord = wordEnum(journalUnits);
export const PullFormatWord = wordEnum(pullFormats);

export const EmptyReasonWord = graphEnum<EmptyReason>('EmptyReason', 'Why no row stands in an export.', {
  empty_by_policy: 'All was looked at, and what was asked for is empty.',
  empty_by_drain: 'The book was not looked at to its end in time.',
});
