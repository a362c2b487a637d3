import { BookNoun } from '../../schema/book/book-page.ts';
import { CorrectedInflowNoun, Row } from '../../schema/book/row.ts';
import { AlertNoun, AlertSettingsNoun } from '../../schema/book-alerts.ts';
import { rowFacts } from '../../schema/book-row.ts';
import { BookSequenceNoun } from '../../schema/book-sequence.ts';
import type { RowFact } from '../../schema/row-fact.ts';
import { nameComponents } from '../answer-shapes.ts';

/* Names for the shapes of book responses, and the nulls that they keep. */

nameComponents({
  BookAlert: AlertNoun,
  AlertSettings: AlertSettingsNoun,
  Book: BookNoun,
  BookEntry: Row,
  CorrectedInflow: CorrectedInflowNoun,
  BookSequence: BookSequenceNoun,
});

/** Members of a row that are present even if they are null. */
const rowNulls: readonly string[] = Object.entries<RowFact>(rowFacts).flatMap(([name, { hidden, rest }]) =>
  !hidden && rest === 'null' ? [name] : [],
);
/** Members of a replay that are present even if they are null. */
const replayNulls = ['at', 'settlement_status', 'replay_of'];

/** By the name of the list that contains the rows. */
export const entriesNulls = { entries: rowNulls, 'entries.replay_events': replayNulls } as const;
export const bookNulls = { ...entriesNulls, alerts: [] } as const;
/** For a response that is a row. */
export const rowAnswerNulls = { '': rowNulls, replay_events: replayNulls } as const;
/** For a response with an inflow and its correction as members. */
export const correctedNulls = {
  row: rowNulls,
  'row.replay_events': replayNulls,
  correction: rowNulls,
  'correction.replay_events': replayNulls,
} as const;
