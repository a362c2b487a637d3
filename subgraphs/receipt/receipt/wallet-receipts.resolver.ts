import { Args, Ctx, Directive, ObjectType, Query, Resolver } from 'type-graphql';
import { Refusal } from '../../../schema/errors.ts';
import { buyerLimits } from '../../../schema/limits.ts';
import { WalletReceiptsNoun } from '../../../schema/receipt-shapes.ts';
import { WalletProofMember, WalletProofRequest, WalletReceiptsPage } from '../../../schema/requests/receipt.ts';
import { walletReceiptsText } from '../../../schema/wallet-receipts.ts';
import { type Arguments, argumentsType, inputType, readRequest, showMembers } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { ReceiptContext } from '../context.ts';
import { requireNotHalted } from '../log/halt-guard.ts';
import { Receipt } from './receipt.entity.ts';
import { believeWallet, receiptsPaidBy, type WalletProofVerdict, walletFaults } from './wallet-receipts.ts';

inputType('WalletProofInput', 'Proof that a wallet asks for its own receipts.', WalletProofRequest);
const WalletArguments = argumentsType(WalletProofMember, WalletReceiptsPage);

@ObjectType({ description: 'A page of the receipts that a wallet has paid for.' })
export class WalletReceipts {
  wallet!: string;
  receipts!: Receipt[];
  next!: number | null;
}
showMembers(WalletReceipts, WalletReceiptsNoun, { receipts: Receipt });

/** A wallet's own receipts, shown to that wallet only. */
@Resolver()
export class WalletReceiptsResolver {
  @Directive(pageByLimit(buyerLimits.receipts_page_default, 'receipts'))
  @Query(() => WalletReceipts, {
    description: 'Receipts that a wallet has paid for. Requires a signature of the wallet.',
  })
  async walletReceipts(
    @Args(() => WalletArguments) asked: Arguments,
    @Ctx() { database, free_wallets, clock, base_urls, principal }: ReceiptContext,
  ): Promise<WalletReceipts> {
    const { after = -1, limit: count = buyerLimits.receipts_page_default } = readRequest(WalletReceiptsPage, asked);
    const proof = readRequest(WalletProofRequest, asked.proof as Arguments);
    const believing = {
      wallets: free_wallets,
      base_urls,
      text: walletReceiptsText,
      now_ms: clock.now_ms(),
      asker: principal.address,
    };
    // The page is refused while the log is halted, because the proof of a wallet is a credential, and the page would be stated to be
    // complete.
    requireNotHalted(database);
    const wallet = requireProvenWallet(await believeWallet(proof, believing));
    return { wallet, ...(await receiptsPaidBy(database, { wallet, after, count })) };
  }
}

/** Returns the proven wallet. @throws Refusal that says what the proof lacks */
function requireProvenWallet(believed: WalletProofVerdict): string {
  if (believed.kind === 'proven') return believed.wallet;
  const { code, ...said } = walletFaults[believed.kind];
  throw new Refusal(code, said);
}
