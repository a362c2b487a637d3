import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';
import type { NetworkName } from '../../../schema/network.ts';

export const settlementStates = ['claimed', 'pending', 'settled', 'failed', 'released'] as const;

/** How a payment stands, for whoever holds it: nothing of what was asked, answered, or of any book. */
@ObjectType('Settlement')
export class SettlementReport {
  @Field(() => String)
  paymentId!: string;

  @Field(() => String, {
    description:
      '`claimed`: worked for, nothing was sent. `pending`: it may have moved. `settled`. `released`: let go of, and still usable. `failed`: it can never be settled.',
  })
  state!: (typeof settlementStates)[number];

  @Field(() => String)
  taskId!: string;

  @Field(() => String)
  network!: NetworkName;

  @Field(() => String, { nullable: true })
  paymentRef!: string | null;

  @Field(() => String, { nullable: true, description: 'Of its receipt, also before that is there.' })
  verifyUrl!: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Null while nobody knows.' })
  charged!: boolean | null;

  @Field(() => Int, { nullable: true, description: 'While it is open.' })
  retryAfterSeconds!: number | null;
}
