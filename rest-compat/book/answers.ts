import { BookNoun } from '../../schema/book/book-page.ts';
import { CorrectedInflowNoun, Row } from '../../schema/book/row.ts';
import { AlertNoun, AlertSettingsNoun } from '../../schema/book-alerts.ts';
import { rowFacts } from '../../schema/book-row.ts';
import { BookSequenceNoun } from '../../schema/book-sequence.ts';
import type { RowFact } from '../../schema/row-fact.ts';
import { nameComponents } from '../answer-shapes.ts';

/* Names of what books answer, and the nulls that stand in the answers with rows. */

nameComponents({
  BookAlert: AlertNoun,
  AlertSettings: AlertSettingsNoun,
  Book: BookNoun,
  BookEntry: Row,
  CorrectedInflow: CorrectedInflowNoun,
  BookSequence: BookSequenceNoun,
});

/** Members of a row that stand there also when they are null. */
const rowNulls: readonly string[] = Object.entries<RowFact>(rowFacts).flatMap(([name, { hidden, rest }]) =>
  !hidden && rest === 'null' ? [name] : [],
);
/** Of a replay only what several are told by is left out. */
const replayNulls = ['at', 'settlement_status', 'replay_of'];

/** By the list that they stand in. */
export const entriesNulls = { entries: rowNulls, 'entries.replay_events': replayNulls } as const;
export const bookNulls = { ...entriesNulls, alerts: [] } as const;
/** Where the answer is a row itself. */
export const rowAnswerNulls = { '': rowNulls, replay_events: replayNulls } as const;
/** Where it has an inflow and a correction of it as members. */
export const correctedNulls = {
  row: rowNulls,
  'row.replay_events': replayNulls,
  correction: rowNulls,
  'correction.replay_events': replayNulls,
} as const;
