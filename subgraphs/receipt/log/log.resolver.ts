import 'reflect-metadata';
import { GraphQLJSONObject } from 'graphql-scalars';
import { Args, Ctx, Query, Resolver } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { ConsistencyRequest, InclusionRequest } from '../../../schema/requests/receipt.ts';
import { InclusionProofNoun } from '../../../schema/result-proof.ts';
import type { Context } from '../../context.ts';
import { type Arguments, argumentsType, givenMembers, objectType } from '../../graph-type.ts';
import { receiptsByTask } from '../receipt/find.ts';
import { logBreaks } from './break.ts';
import { requireNotHalted } from './halt-guard.ts';
import { TreeHead } from './log.entity.ts';
import { newestHead } from './signed-heads.ts';
import { consistencyProof, inclusionOf } from './stored-proofs.ts';

export const InclusionProof = objectType(
  'InclusionProof',
  'Proof that the log contains a receipt (RFC 9162 §2.1.3). Hashes are lower-case hex.',
  InclusionProofNoun,
);
export type InclusionProof = InstanceType<typeof InclusionProof>;
const InclusionArguments = argumentsType(InclusionRequest);
const ConsistencyArguments = argumentsType(ConsistencyRequest);

@Resolver()
export class LogResolver {
  @Query(() => TreeHead, {
    nullable: true,
    description: 'Newest signed tree head. Null while the log is empty, or on error.',
  })
  async logHead(@Ctx() { database }: Context): Promise<TreeHead | null> {
    requireNotHalted(database);
    return newestHead(database);
  }

  @Query(() => [GraphQLJSONObject], {
    description: 'Signed declarations that the log was broken. Normally empty.',
  })
  async logBreaks(@Ctx() { database }: Context): Promise<JsonObject[]> {
    requireNotHalted(database);
    return logBreaks(database);
  }

  @Query(() => InclusionProof, {
    nullable: true,
    description:
      'Proof that the log contains a receipt (RFC 9162 §2.1.3), against the newest tree head or the tree of `treeSize` leaves. Null if no receipt has this task id, if the tree does not contain it, or on error.',
  })
  async inclusionProof(
    @Args(() => InclusionArguments) asked: Arguments,
    @Ctx() { database }: Context,
  ): Promise<InclusionProof | null> {
    // The proof is refused even if the receipt is found, because its head would not be the newest that was signed.
    requireNotHalted(database);
    const { task_id: taskId, tree_size } = givenMembers(InclusionRequest, asked);
    const [receipt] = await receiptsByTask(database, [taskId]);
    const newest = await newestHead(database);
    if (!receipt || !newest) return null;
    const size = sizeWithin(tree_size ?? newest.treeSize, newest.treeSize);
    if (receipt.leafIndex >= size) return null;
    const signed_root = size === newest.treeSize ? newest.rootHash : null;
    const { leaf, leaf_index, root, path } = await inclusionOf(database, receipt, size, signed_root);
    return {
      taskId,
      leafIndex: leaf_index,
      leafHash: hex(leaf),
      treeSize: size,
      rootHash: hex(root),
      path: path.map(hex),
    };
  }

  @Query(() => [String], {
    description: 'Proof that the smaller tree is a prefix of the larger (RFC 9162 §2.1.4): hashes in lower-case hex.',
  })
  async consistencyProof(
    @Args(() => ConsistencyArguments) asked: Arguments,
    @Ctx() { database }: Context,
  ): Promise<string[]> {
    const { from, to } = givenMembers(ConsistencyRequest, asked);
    requireNotHalted(database);
    const newest = await newestHead(database);
    const size = sizeWithin(to, newest?.treeSize ?? 0);
    const proof = await consistencyProof(database, sizeWithin(from, size), size);
    return proof.map(hex);
  }
}

const hex = (hash: Buffer) => hash.toString('hex');

function sizeWithin(size: number, size_max: number): number {
  if (size < 1 || size > size_max)
    throw new Refusal('invalid_request', { detail: `The log has no tree of ${size} leaves.` });
  return size;
}
