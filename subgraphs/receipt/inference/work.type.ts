import { Field } from 'type-graphql';
import type { z } from 'zod';
import type { MembersOf } from '../../../schema/noun.ts';
import { SvcOptionsNoun } from '../../../schema/requests/paid-work.ts';
import { inputType, objectType } from '../../graph-type.ts';
import { Receipt } from '../receipt/receipt.entity.ts';

/*
 * What paid requests and their answers have in common, as the graph has it. An input that is made of its request has these members from
 * there.
 */

inputType('SvcInput', 'What is asked of this service, beside what is asked of a model.', SvcOptionsNoun);

/** The type of a paid answer: the members of its noun, and its receipt. */
export function paidAnswerType<N extends z.ZodObject>(name: string, description: string, noun: N) {
  const type = objectType(name, description, noun) as new () => MembersOf<N> & { receipt: Receipt | null };
  Field(() => Receipt, { nullable: true, description: 'The receipt in `svc`, to be selected from.' })(
    type.prototype,
    'receipt',
  );
  return type;
}
