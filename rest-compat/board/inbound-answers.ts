import { z } from 'zod';
import { CompletionNoun } from '../../schema/board/completion.ts';
import { nameComponents } from '../answer-shapes.ts';
import { ReceiptAnswer } from '../receipt/signed-receipt.ts';

const { recorded_at, ...reported } = CompletionNoun.shape;

/** What the inbound endpoint answers: a completion with its receipt as it is signed. */
export const CompletionAnswer = z.object({
  ...reported,
  receipt: ReceiptAnswer.describe('Signed receipt of what was reported, and of what of it was seen. It is on no book.'),
  recorded_at,
});

nameComponents({ Completion: CompletionAnswer });
