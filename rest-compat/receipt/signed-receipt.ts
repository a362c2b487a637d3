import { ReceiptInAnswerNoun, ReceiptNoun, ReceiptPayloadNoun, ReportedNoun } from '../../schema/receipt-shapes.ts';
import { nameComponents } from '../answer-shapes.ts';

/* A signed receipt, as endpoints show it. */

nameComponents({
  ReceiptPayload: ReceiptPayloadNoun,
  ReceiptReported: ReportedNoun,
  Receipt: ReceiptNoun,
  ReceiptInAnswer: ReceiptInAnswerNoun,
});

export { ReceiptInAnswerNoun as SvcAnswer, ReceiptNoun as ReceiptAnswer };
