import 'reflect-metadata';
import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import { Refusal } from '../../../schema/errors.ts';
import { BundleRequest, CheckpointRequest, ReceiptPath, TileRequest } from '../../../schema/requests/receipt.ts';
import { type Arguments, argumentsType, givenMembers } from '../../graph-type.ts';
import type { ReceiptContext } from '../context.ts';
import { checkpoint, tlogProof } from './checkpoint.ts';
import { requireNotHalted, resultUnlessHalted } from './halt-guard.ts';
import { entryBundle, tile, tileAddress } from './tiles.ts';

/** Query cost of a tile. It has 8 KiB of hashes, and costs as much as a page of rows. */
const TILE_COST = 50;
/** Query cost of a bundle. It has the payloads of 256 receipts. */
const BUNDLE_COST = 200;

const CheckpointArguments = argumentsType(CheckpointRequest);
const TileArguments = argumentsType(TileRequest);
const BundleArguments = argumentsType(BundleRequest);
const ProofArguments = argumentsType(ReceiptPath);

/** The log in the formats of C2SP: checkpoints, tiles, proofs (https://c2sp.org/tlog-tiles). */
@Resolver()
export class LogTilesResolver {
  @Query(() => String, {
    description:
      'Tree head as a checkpoint: a note signed with the Ed25519 keys of the issuer. Without `treeSize`: the newest tree head, or one that witnesses have cosigned and that was the newest within the last minute. Null if no head of that size was signed, or on error.',
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
    description: 'Verifier keys of the checkpoints (C2SP signed-note), one per line, the current one first.',
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
    description:
      'Tile of up to 256 hashes of the log (C2SP tlog-tiles), in base64. Null if the log has no such tile, or on error.',
  })
  async logTile(
    @Args(() => TileArguments) asked: Arguments,
    @Ctx() { database }: ReceiptContext,
  ): Promise<string | null> {
    const { level, path } = givenMembers(TileRequest, asked);
    const address = tileAddress(level, path);
    return address && resultUnlessHalted(database, base64(await tile(database, address)));
  }

  @Directive(`@cost(weight: ${BUNDLE_COST})`)
  @Query(() => String, {
    nullable: true,
    description:
      'Payloads of the receipts of a tile (C2SP entry bundle), in base64. Null if the log has no such tile, if its entries are not public, or on error.',
  })
  async logEntryBundle(
    @Args(() => BundleArguments) asked: Arguments,
    @Ctx() { database, log_entries }: ReceiptContext,
  ): Promise<string | null> {
    const address = log_entries === 'public' ? tileAddress('0', givenMembers(BundleRequest, asked).path) : null;
    return address && resultUnlessHalted(database, base64(await entryBundle(database, address)));
  }

  @Query(() => String, {
    nullable: true,
    description:
      'Proof that the log contains a receipt, as a text that is checked offline (https://c2sp.org/tlog-proof). Null if no receipt has this task id, or on error.',
  })
  async logProof(@Args(() => ProofArguments) asked: Arguments, @Ctx() context: ReceiptContext): Promise<string | null> {
    requireNotHalted(context.database);
    const found = await tlogProof(context, givenMembers(ReceiptPath, asked).task_id);
    return found.kind === 'proven' ? found.text : nothingStated(found);
  }
}

/** Null for an unknown size or receipt. @throws Refusal unavailable while the log is halted */
function nothingStated({ kind }: { readonly kind: 'unknown' | 'halted' }): null {
  if (kind === 'halted')
    throw new Refusal('unavailable', {
      detail: 'The receipt log is halted, so no statement about it is made. Try again later.',
    });
  return null;
}

function base64(bytes: Buffer | null): string | null {
  return bytes?.toString('base64') ?? null;
}
