import { Directive } from 'type-graphql';
import { FulfillmentAuthorizationNoun, FulfillmentIntentNoun, OutputCommitmentNoun } from '../schema/receipt-shapes.ts';
import { objectType } from './graph-type.ts';

/* Types of what was bought and delivered. Rows of books and signed receipts both show them. */

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
