import { BookExportNoun, ExportPieceNoun, WithdrawnExportNoun } from '../../../schema/book/export.ts';
import { exportLimits } from '../../../schema/limits.ts';
import { ExportFilterRequest } from '../../../schema/requests/export.ts';
import { JournalAccounts } from '../../../schema/requests/journal-accounts.ts';
import { inputType, objectType } from '../../graph-type.ts';
import type { StreamedPiece } from './stream.ts';

/* GraphQL inputs and types of exports of books. */

export const BookExport = objectType(
  'BookExport',
  `An export of at most ${exportLimits.rows_max} rows. Each field is one format of the same rows.`,
  BookExportNoun,
);

inputType(
  'BookExportFilter',
  'Filter of the exported rows: rows that match every member. A member that is left out does not restrict the rows.',
  ExportFilterRequest,
);
inputType(
  'JournalAccountNames',
  'Account names of a journal. A member that is left out has its default.',
  JournalAccounts,
);

export const BookExportPiece = objectType(
  'BookExportPiece',
  'One piece of an export of a whole book. The pieces arrive in order.',
  ExportPieceNoun,
);
export type BookExportPiece = InstanceType<typeof BookExportPiece>;

export function exportPiece({ text, bytes, rows_done, rows_total, last_seq }: StreamedPiece): BookExportPiece {
  const base64 = bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return { text, base64, rowsDone: rows_done, rowsTotal: rows_total, lastSeq: last_seq };
}

export const WithdrawnExport = objectType(
  'WithdrawnExport',
  'A published export that its owner withdrew: it can no longer be read.',
  WithdrawnExportNoun,
);
export type WithdrawnExport = InstanceType<typeof WithdrawnExport>;
