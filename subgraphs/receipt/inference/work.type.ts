import { Field } from 'type-graphql';
import type { z } from 'zod';
import type { MembersOf } from '../../../schema/noun.ts';
import { SvcOptionsNoun } from '../../../schema/requests/paid-work.ts';
import { inputType, objectType } from '../../graph-type.ts';
import { Receipt } from '../receipt/receipt.entity.ts';

/* Graph types that paid requests and answers share. An input type that is made from a request's schema takes these members from it. */

inputType('SvcInput', 'Options of this service, in addition to the request to the model.', SvcOptionsNoun);

/** Makes the type of a paid answer: the members of its noun, and its receipt. */
export function paidAnswerType<N extends z.ZodObject>(name: string, description: string, noun: N) {
  const type = objectType(name, description, noun) as new () => MembersOf<N> & { receipt: Receipt | null };
  Field(() => Receipt, {
    nullable: true,
    description:
      'Signed receipt of the answer, member by member; `svc` has the same receipt as JSON. Null only if reading a member failed.',
  })(type.prototype, 'receipt');
  return type;
}
