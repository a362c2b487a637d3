import { Arg, Ctx, Directive, Field, InputType, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { Refusal } from '../../../schema/errors.ts';
import { textForm } from '../../../schema/signed-words.ts';
import { walletReceiptsPage, walletReceiptsText } from '../../../schema/wallet-receipts.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { ReceiptContext } from '../context.ts';
import { requireNotHalted } from '../log/while-halted.ts';
import { Receipt } from './receipt.entity.ts';
import { believeWallet, receiptsPaidBy, type WalletBelieved, walletFaults } from './wallet-receipts.ts';

@InputType({ description: 'By what a wallet proves that it asks for its own receipts.' })
export class WalletProofInput {
  @Field(() => String, { description: 'Its address on Base.' }) wallet!: string;
  @Field(() => Int, { description: 'When it signed, in Unix seconds: passes for 300 seconds.' }) signedAt!: number;
  @Field(() => String, {
    description: `Signature over ${textForm('receipts')}: personal_sign, ERC-1271 or ERC-6492.`,
  })
  signature!: string;
}

@ObjectType({ description: 'Receipts that a wallet has paid for.' })
export class WalletReceipts {
  @Field(() => String, { description: 'The wallet, in EIP-55 spelling.' }) wallet!: string;
  @Field(() => [Receipt], { description: 'By the log’s order.' }) receipts!: Receipt[];
  @Field(() => Int, { nullable: true, description: '`after` of the next page; null where this is the last.' })
  next!: number | null;
}

/** What a wallet is told of its own, and of nobody else's. */
@Resolver()
export class WalletReceiptsResolver {
  @Directive(pageByLimit(walletReceiptsPage.usual, 'receipts'))
  @Query(() => WalletReceipts, {
    description: 'The receipts that a wallet has paid for, for whoever proves to hold it.',
  })
  async walletReceipts(
    @Arg('proof', () => WalletProofInput, { description: 'What the wallet has signed.' }) proof: WalletProofInput,
    @Arg('after', () => Int, { nullable: true, description: 'Behind this leaf of the log: see `next`.' })
    after: number | null,
    @Arg('limit', () => Int, { nullable: true, description: '1 to 50, 25 where it is left out.' }) limit: number | null,
    @Ctx() { database, free_wallets: wallets, clock, base_urls, principal }: ReceiptContext,
  ): Promise<WalletReceipts> {
    const count = limit ?? walletReceiptsPage.usual;
    if (count < 1 || count > walletReceiptsPage.most)
      throw new Refusal('invalid_request', {
        param: 'limit',
        detail: `limit is from 1 to ${walletReceiptsPage.most}.`,
      });
    const believing = {
      wallets,
      base_urls,
      text: walletReceiptsText,
      now_ms: clock.now_ms(),
      asker: principal.address,
    };
    // A wallet's proof is a credential, and a page would be stated as whole.
    requireNotHalted(database);
    const wallet = requireBelieved(await believeWallet({ ...proof, signed_at: proof.signedAt }, believing));
    return { wallet, ...(await receiptsPaidBy(database, { wallet, after: after ?? -1, count })) };
  }
}

/** @throws the refusal that says what is missing */
function requireBelieved(believed: WalletBelieved): string {
  if (believed.kind === 'proven') return believed.wallet;
  const { code, ...said } = walletFaults[believed.kind];
  throw new Refusal(code, said);
}
