import { Directive } from 'type-graphql';
import { FulfillmentAuthorizationNoun, FulfillmentIntentNoun, OutputCommitmentNoun } from '../schema/receipt-shapes.ts';
import { objectType } from './graph-type.ts';

/* What was bought and delivered, as rows of books and signed receipts both show it. */

const OutputCommitment = objectType(
  'OutputCommitment',
  'Commitment to what was delivered: its hash, or the reason why there is none.',
  OutputCommitmentNoun,
);
const FulfillmentIntent = objectType(
  'FulfillmentIntent',
  'What was to be bought: kind of work, resource and intent.',
  FulfillmentIntentNoun,
);
const FulfillmentAuthorization = objectType(
  'FulfillmentAuthorization',
  'Wallet, session and payment that authorized a paid job, as far as they are known.',
  FulfillmentAuthorizationNoun,
);
for (const type of [OutputCommitment, FulfillmentIntent, FulfillmentAuthorization]) Directive('@shareable')(type);
