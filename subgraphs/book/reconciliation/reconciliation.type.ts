import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import {
  ReconciliationNoun,
  reconciliationFaults,
  reconciliationStates,
  walletProvenBy,
} from '../../../schema/reconciliation.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';
import type { StoredReconciliation } from './reconciliation.entity.ts';

const ReconciliationStateWord = wordEnum(reconciliationStates);
const ReconciliationFaultWord = wordEnum(reconciliationFaults);
const WalletProvenByWord = wordEnum(walletProvenBy);

@InputType({ description: 'Which wallet’s transfers, between which blocks of Base, and what proves the wallet.' })
export class ReconciliationInput {
  @Field(() => String, { description: 'An address on Base.' }) wallet!: string;
  @Field(() => Int, { description: 'The first block.' }) fromBlock!: number;
  @Field(() => Int, { description: 'The last one: 50,000 blocks at most, both ends included.' }) toBlock!: number;
  @Field(() => String, {
    nullable: true,
    description:
      'Left out where it is agentWallet. Over `svc.reconcile|<base URL of this service>|<agent_id>|<checksum_address>|<unix_seconds>`.',
  })
  signature?: string | null;
  @Field(() => Int, { nullable: true, description: 'When it signed, in Unix seconds: passes for 300 seconds.' })
  signedAt?: number | null;
}

const Members = class {} as new () => MembersOf<typeof ReconciliationNoun>;

@ObjectType({ description: 'What each USDC transfer of a wallet is, as a report that is made block by block.' })
export class Reconciliation extends Members {
  @Directive('@cost(weight: 10)')
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'svc402.reconciliation.v1, signed: `npm run verify` checks it offline. Null until it is done.',
  })
  report!: JsonObject | null;
}

showMembers(Reconciliation, ReconciliationNoun, {
  wallet_proven_by: WalletProvenByWord,
  state: ReconciliationStateWord,
  reason: ReconciliationFaultWord,
});

export function shownReconciliation(stored: StoredReconciliation): Reconciliation {
  const { fromBlock, toBlock, nextBlock, document, provenBy, transfers, ...rest } = stored;
  return {
    reportId: rest.reportId,
    agentId: rest.agentId,
    wallet: rest.wallet,
    walletProvenBy: provenBy,
    fromBlock,
    toBlock,
    state: rest.state,
    reason: rest.reason,
    blocksDone: nextBlock - fromBlock,
    blocksTotal: toBlock - fromBlock + 1,
    transfersFound: transfers,
    askedAt: rest.askedAt,
    endedAt: rest.endedAt,
    report: document === null ? null : (JSON.parse(document) as JsonObject),
  };
}
