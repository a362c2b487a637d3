import { Migration } from '@mikro-orm/migrations';

/** Which chain a settlement was sent to: the rounds that look after them ask each chain for its own. */
export class SettlementsByNetwork extends Migration {
  override up(): void {
    this.addSql(`alter table settlement add column network text not null default 'base'`);
    this.addSql('drop index settlement_mined');
    this.addSql(`create index settlement_mined on settlement (network, block_number) where state = 'mined'`);
  }
}
