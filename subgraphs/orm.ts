import { BigIntType as OrmBigInt, Type } from '@mikro-orm/core';
import * as decorators from '@mikro-orm/decorators/legacy';
import { Migrator, Migration as OrmMigration } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { type AtomicAmount, atomicAmount } from '../schema/amount.ts';
import { JOBS_SCHEMA } from './migrate-jobs.ts';
import type { MigrationClass } from './migration.ts';
import { AtomicAmountColumn, applyToOrm, BigIntType } from './table.ts';

/* MikroORM runs the migrations. Tests use it to compare the resulting tables with the entities. */

export interface OrmOptions {
  readonly url: string;
  readonly entities: readonly (new () => object)[];
  readonly migrations: readonly MigrationClass[];
}

export function openOrm({ url, entities, migrations }: OrmOptions): Promise<MikroORM> {
  applyToOrm({ decorators, typeOf });
  return MikroORM.init({
    entities: [...entities],
    clientUrl: url,
    extensions: [Migrator],
    pool: { min: 0, max: 1 },
    schemaGenerator: { ignoreSchema: [JOBS_SCHEMA] },
    migrations: {
      migrationsList: migrations.map(migration => ({ name: migration.name, class: runBy(migration) })),
      snapshot: false,
      allOrNothing: true,
      silent: true,
    },
  });
}

/** Runs the migrations that the database has not run, in one transaction. */
export async function runMigrations(options: OrmOptions): Promise<void> {
  const orm = await openOrm(options);
  try {
    await orm.migrator.up();
  } finally {
    await orm.close(true);
  }
}

function runBy(migration: MigrationClass) {
  return class extends OrmMigration {
    override up(): void {
      for (const statement of new migration().statements()) this.addSql(statement);
    }
  };
}

/** Maps numeric(78,0) to bigint. The column is wide enough for USDC, for XNO raw, and for any uint256. */
class AmountType extends Type<AtomicAmount, string> {
  override convertToDatabaseValue(value: AtomicAmount): string {
    return String(value);
  }
  override convertToJSValue(value: string | bigint): AtomicAmount {
    return atomicAmount(BigInt(value));
  }
  override getColumnType(): string {
    return 'numeric(78,0)';
  }
}

function typeOf(type: unknown): unknown {
  if (type === AtomicAmountColumn || type instanceof AtomicAmountColumn) return new AmountType();
  return type instanceof BigIntType ? new OrmBigInt(type.mode) : type;
}
