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

/* The signed payload of a receipt, as the specification shapes it. `Receipt.preimage` has the same payload byte for byte. */

objectType(
  'CallerBinding',
  'Who sent the request, as far as known: wallet, session key or API key. An API key is shown only by its hash.',
  CallerBindingNoun,
);
objectType('ReceiptTolerance', 'Tolerances within which facts may differ from what is signed.', ToleranceNoun);
objectType(
  'ReceiptIssuerHistory',
  "Snapshot of the issuer's keys that was valid when the receipt was signed.",
  IssuerHistoryReferenceNoun,
);
objectType(
  'ReceiptPolicyReference',
  'Receipt policy that governs the receipt (rules of the issuer for what it signs), by hash and version.',
  PolicyReferenceNoun,
);
objectType(
  'SignedPayment',
  'Settled payment that a receipt signs: its transaction, wallets and amounts.',
  SignedPaymentNoun,
);
objectType('SignedLeg', 'One of the two payments of a call that was paid for in two parts.', SignedLegNoun);
objectType(
  'SignedTransferFacts',
  'Transfer of the payment, in a receipt of payload version 4: a fee (stamp) that was paid to this service, or an ingested payment to somebody else.',
  TransferFactsNoun,
);
objectType(
  'ReceiptReported',
  'Report of work that others did: a generation of a router, or a completion. It is no payment to this service.',
  ReportedNoun,
);
objectType(
  'ReceiptReportedParties',
  'Payer and payee of a completion that was reported to the board, as they were reported.',
  ReportedPartiesNoun,
);

objectType(
  'ReceiptFulfillment',
  'What was bought, what authorized it, and the commitment to what was delivered.',
  FulfillmentNoun,
);
objectType(
  'ReceiptCogs',
  'Cost of the work to the issuer, computed in two ways: from the token counts, and as the price of the call at the hub.',
  ProviderCogsNoun,
);

/**
 * Members of the signed payload on the graph. Old versions lack some of them. A `settled_by` that an old version signed is shown as
 * `settlementBasis`.
 */
export const SignedPayloadNoun = ReceiptPayloadNoun.omit({ settled_by: true }).partial({
  tolerance: true,
  issuer_history: true,
  receipt_policy: true,
});

export const SignedPayload = objectType(
  'ReceiptPayload',
  'Signed payload of a receipt, which the log contains. Members that do not apply, or that the version of the payload does not have, are null.',
  SignedPayloadNoun,
);
