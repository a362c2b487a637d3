import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { ReconciliationNoun } from '../../../schema/reconciliation.ts';
import { ReconciliationRequest } from '../../../schema/requests/reconciliation.ts';
import { inputType, showMembers } from '../../graph-type.ts';
import type { StoredReconciliation } from './reconciliation.entity.ts';

export const ReconciliationInput = inputType(
  'ReconciliationInput',
  'Which wallet’s transfers, between which blocks of Base, and what proves the wallet.',
  ReconciliationRequest,
);

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

showMembers(Reconciliation, ReconciliationNoun);

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
