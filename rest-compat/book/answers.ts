import { z } from 'zod';
import { BookNoun } from '../../schema/book/book-page.ts';
import { AlertNoun, AlertSettingsNoun } from '../../schema/book-alerts.ts';
import { nameComponents } from '../answer-shapes.ts';
import { Row } from './row.ts';

const { agent_id, limit, ...members } = BookNoun.shape;

export const BookAnswer = z.object({
  agent_id,
  limit,
  entries: z.array(Row).describe('Rows of the page, newest first.'),
  ...members,
});

nameComponents({
  BookAlert: AlertNoun,
  AlertSettings: AlertSettingsNoun,
  Book: BookAnswer,
  BookEntry: Row,
});
