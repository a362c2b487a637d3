import 'reflect-metadata';
import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import { Refusal } from '../../../schema/errors.ts';
import { BundleRequest, CheckpointRequest, ReceiptPath, TileRequest } from '../../../schema/requests/receipt.ts';
import { type Arguments, argumentsType, givenMembers } from '../../graph-type.ts';
import type { ReceiptContext } from '../context.ts';
import { checkpoint, tlogProof } from './checkpoint.ts';
import { entryBundle, tile, tileAddress } from './tiles.ts';
import { foundUnlessHalted, requireNotHalted } from './while-halted.ts';

/** What a page of rows costs, for 8 KiB of hashes. */
const TILE_COST = 50;
/** 256 receipts' payloads. */
const BUNDLE_COST = 200;

const CheckpointArguments = argumentsType(CheckpointRequest);
const TileArguments = argumentsType(TileRequest);
const BundleArguments = argumentsType(BundleRequest);
const ProofArguments = argumentsType(ReceiptPath);

/** The log as C2SP has it: checkpoints, tiles, proofs (https://c2sp.org/tlog-tiles). */
@Resolver()
export class LogTilesResolver {
  @Query(() => String, {
    description:
      'The newest head, or that of `treeSize` leaves, as a checkpoint: a note signed by the issuer’s Ed25519 keys.',
    nullable: true,
  })
  async logCheckpoint(
    @Args(() => CheckpointArguments) asked: Arguments,
    @Ctx() context: ReceiptContext,
  ): Promise<string | null> {
    requireNotHalted(context.database);
    const { tree_size = null } = givenMembers(CheckpointRequest, asked);
    const found = await checkpoint(context, { tree_size });
    return found.kind === 'known' ? found.note : nothingStated(found);
  }

  @Query(() => String, {
    description: 'By which checkpoints are verified: a verifier key in each line, the current first.',
  })
  logVerifierKeys(@Ctx() { issuer }: ReceiptContext): string {
    return issuer
      .verifierKeys(issuer.log_origin)
      .map(key => `${key}\n`)
      .join('');
  }

  @Directive(`@cost(weight: ${TILE_COST})`)
  @Query(() => String, {
    nullable: true,
    description: 'A tile of hashes, in base64; null where the log is not as long.',
  })
  async logTile(
    @Args(() => TileArguments) asked: Arguments,
    @Ctx() { database }: ReceiptContext,
  ): Promise<string | null> {
    const { level, path } = givenMembers(TileRequest, asked);
    const address = tileAddress(level, path);
    return address && foundUnlessHalted(database, base64(await tile(database, address)));
  }

  @Directive(`@cost(weight: ${BUNDLE_COST})`)
  @Query(() => String, {
    nullable: true,
    description:
      'What the leaves of a tile are of, in base64; null where the log is not as long, or keeps that to itself.',
  })
  async logEntryBundle(
    @Args(() => BundleArguments) asked: Arguments,
    @Ctx() { database, log_entries }: ReceiptContext,
  ): Promise<string | null> {
    const address = log_entries === 'public' ? tileAddress('0', givenMembers(BundleRequest, asked).path) : null;
    return address && foundUnlessHalted(database, base64(await entryBundle(database, address)));
  }

  @Query(() => String, {
    nullable: true,
    description: 'That a receipt stands in the log, as a text that is checked offline (https://c2sp.org/tlog-proof).',
  })
  async logProof(@Args(() => ProofArguments) asked: Arguments, @Ctx() context: ReceiptContext): Promise<string | null> {
    requireNotHalted(context.database);
    const found = await tlogProof(context, givenMembers(ReceiptPath, asked).task_id);
    return found.kind === 'proven' ? found.text : nothingStated(found);
  }
}

/** @throws Refusal unavailable while the log is halted */
function nothingStated({ kind }: { readonly kind: 'unknown' | 'halted' }): null {
  if (kind === 'halted') throw new Refusal('unavailable', { detail: 'The log is halted: nothing is stated of it.' });
  return null;
}

function base64(bytes: Buffer | null): string | null {
  return bytes?.toString('base64') ?? null;
}
