import { Directive } from 'type-graphql';
import { FulfillmentAuthorizationNoun, FulfillmentIntentNoun, OutputCommitmentNoun } from '../schema/receipt-shapes.ts';
import { objectType } from './graph-type.ts';

/* What was bought and delivered, as rows of books and signed receipts both show it. */

const OutputCommitment = objectType('OutputCommitment', 'Commitment to what was delivered.', OutputCommitmentNoun);
const FulfillmentIntent = objectType('FulfillmentIntent', 'What a paid job was meant to be.', FulfillmentIntentNoun);
const FulfillmentAuthorization = objectType(
  'FulfillmentAuthorization',
  'Who allowed a paid job, as far as that is known.',
  FulfillmentAuthorizationNoun,
);
for (const type of [OutputCommitment, FulfillmentIntent, FulfillmentAuthorization]) Directive('@shareable')(type);
