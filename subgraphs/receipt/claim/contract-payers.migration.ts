import { Migration } from '@mikro-orm/migrations';

/** Who has paid by a contract's word: looked up with every payment that no key has signed. */
export class ContractPayers extends Migration {
  override up(): void {
    this.addSql(
      `create index payment_claim_contract_payer on payment_claim (payer, moved_at)
        where state in ('settling', 'recorded') and "authorization"->'signature'->>'kind' = 'contract'`,
    );
  }
}
