import { Migration } from '@mikro-orm/migrations';

/** What settling costs: of each settlement, and of each day over all processes. */
export class SettlementFees extends Migration {
  override up(): void {
    this.addSql(`alter table settlement
      add column fee_day date null,
      add column eth_price_atomic numeric(78,0) null,
      add column fee_max_atomic numeric(78,0) null,
      add column fee_atomic numeric(78,0) null`);
    this.addSql(`create table settlement_fee_day (
      day date primary key,
      fee_atomic numeric(78,0) not null,
      authorizations bigint not null
    )`);
  }
}
