import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';
import type { NetworkName } from '../../../schema/network.ts';
import { graphEnum } from '../../graph-enum.ts';
import { NetworkWord } from '../../words.ts';

export const settlementStates = ['claimed', 'pending', 'settled', 'failed', 'released'] as const;

const SettlementStateWord = graphEnum<(typeof settlementStates)[number]>('SettlementState', 'Where a payment stands.', {
  claimed: 'Worked for, and nothing was sent.',
  pending: 'It may have moved.',
  settled: 'It was collected.',
  released: 'Let go of, and still usable.',
  failed: 'It can never be settled.',
});

/** How a payment stands, for whoever holds it: nothing of what was asked, answered, or of any book. */
@ObjectType('Settlement', { description: 'How a payment stands, for whoever holds it.' })
export class SettlementReport {
  @Field(() => String, { description: 'As it was asked for.' })
  paymentId!: string;

  @Field(() => SettlementStateWord, { description: 'Where it stands.' })
  state!: (typeof settlementStates)[number];

  @Field(() => String, { description: 'What it buys, or bought.' })
  taskId!: string;

  @Field(() => NetworkWord, { description: 'On which network.' })
  network!: NetworkName;

  @Field(() => String, { nullable: true, description: '`network:transaction`, once there is one.' })
  paymentRef!: string | null;

  @Field(() => String, { nullable: true, description: 'Of its receipt, also before that is there.' })
  verifyUrl!: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Null while nobody knows.' })
  charged!: boolean | null;

  @Field(() => Int, { nullable: true, description: 'While it is open.' })
  retryAfterSeconds!: number | null;
}
