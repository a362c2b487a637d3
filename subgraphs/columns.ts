import { Type } from '@mikro-orm/core';
import type { MikroORM } from '@mikro-orm/postgresql';
import { type AtomicAmount, atomicAmount } from '../schema/amount.ts';

/* How an amount stands in a column, and how a row that was read becomes an entity. */

/** numeric(78,0) ↔ bigint: wide enough for USDC and for XNO raw, and for any uint256. */
export class AtomicAmountColumn extends Type<AtomicAmount, string> {
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

const selected = new WeakMap<object, string>();

/** The columns of an entity under the names of its properties, for prepared statements on hot paths. */
export function selectList<E extends object>(orm: MikroORM, entity: new () => E): string {
  const known = selected.get(entity);
  if (known) return known;
  const columns = orm
    .getMetadata()
    .get(entity)
    .props.filter(property => property.persist !== false && property.fieldNames)
    .map(property => `"${property.fieldNames[0]}" as "${property.name}"`)
    .join(', ');
  selected.set(entity, columns);
  return columns;
}

/**
 * A result row, which is not copied, as an instance of its entity, getters included. Assigned one by one its members
 * would meet MikroORM's setters, each of which makes an accessor to track changes that nobody makes here.
 */
export function asEntity<E extends object>(entity: new () => E, row: object): E {
  return Object.setPrototypeOf(row, entity.prototype);
}

const columnNames = new Map<string, string>();

/** An entity as `insertRows` takes it: by its columns, amounts as digits. */
export function asRecord(entity: object): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [property, value] of Object.entries(entity)) {
    const known = columnNames.get(property) ?? property.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
    columnNames.set(property, known);
    record[known] = typeof value === 'bigint' ? value.toString() : value;
  }
  return record;
}
