import {
  CallerBindingNoun,
  FulfillmentNoun,
  IssuerHistoryReferenceNoun,
  PolicyReferenceNoun,
  ProviderCogsNoun,
  ReceiptPayloadNoun,
  ReportedNoun,
  ReportedPartiesNoun,
  SignedLegNoun,
  SignedPaymentNoun,
  ToleranceNoun,
  TransferFactsNoun,
} from '../../../schema/receipt-shapes.ts';
import '../../fulfillment.type.ts';
import { objectType } from '../../graph-type.ts';

/* What a receipt signs, by the shapes that the specification gives; `Receipt.preimage` is the same byte for byte. */

objectType(
  'CallerBinding',
  'Who called, as far as that is known. An API key is shown by its hash alone.',
  CallerBindingNoun,
);
objectType('ReceiptTolerance', 'How far a verifier may let facts drift from what is signed.', ToleranceNoun);
objectType(
  'ReceiptIssuerHistory',
  "Which snapshot of the issuer's keys held when this was signed.",
  IssuerHistoryReferenceNoun,
);
objectType('ReceiptPolicyReference', 'Which receipt policy governs this receipt.', PolicyReferenceNoun);
objectType('SignedPayment', 'The payment of a receipt, once it had moved.', SignedPaymentNoun);
objectType('SignedLeg', 'One of two payments that were made for the same thing.', SignedLegNoun);
objectType(
  'SignedTransferFacts',
  'A transfer as its chain has it, of a lane without a payment of this service.',
  TransferFactsNoun,
);
objectType(
  'ReceiptReported',
  'What was reported of work that others did: a generation of a router, or a completion. No payment of this service.',
  ReportedNoun,
);
objectType(
  'ReceiptReportedParties',
  'Payer and payee of a completion that was reported to the board, as they were reported.',
  ReportedPartiesNoun,
);

objectType('ReceiptFulfillment', 'What a paid call was for, who allowed it, and what came of it.', FulfillmentNoun);
objectType('ReceiptCogs', 'What the work cost the issuer, and at what price it marks that.', ProviderCogsNoun);

/** Versions of old lack some members; what they sign as `settled_by` is `settlementBasis` here. */
export const SignedPayload = objectType(
  'ReceiptPayload',
  'What is signed and stands in the log. What does not apply, or its version does not sign, is null.',
  ReceiptPayloadNoun.omit({ settled_by: true }).partial({
    tolerance: true,
    issuer_history: true,
    receipt_policy: true,
  }),
);
