import 'reflect-metadata';
import { ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { TreeHeadNoun } from '../../../schema/result-proof.ts';
import { showMembers } from '../../graph-type.ts';
import { BigIntType, Entity, PrimaryKey, Property } from '../../table.ts';

/** Root of a perfect subtree of the log. It is written once and never changed. */
@Entity()
export class LogNode {
  @PrimaryKey({ type: 'smallint', autoincrement: false })
  level!: number;

  @PrimaryKey({ type: new BigIntType('number'), autoincrement: false })
  index!: number;

  @Property({ type: 'blob', columnType: 'bytea' })
  hash!: Buffer;
}

/**
 * The only row is the head of the log, which is locked while leaves are appended. The frontier is the concatenation of the peaks' hashes.
 */
@Entity()
export class LogHead {
  @PrimaryKey({ type: 'smallint', autoincrement: false })
  logId!: number;

  @Property({ type: new BigIntType('number') })
  treeSize!: number;

  @Property({ type: 'blob', columnType: 'bytea' })
  rootHash!: Buffer;

  @Property({ type: 'blob', columnType: 'bytea' })
  frontier!: Buffer;

  @Property({ type: new BigIntType('number') })
  lastAtMs!: number;

  /** Halt of the log, see halt.ts. Null while leaves may be appended. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  halted!: JsonObject | null;
}

/** A head that the issuer signed. There is one for each batch of receipts. */
@ObjectType({ description: 'A signed tree head of the append-only receipt log (RFC 6962).' })
@Entity()
export class TreeHead implements MembersOf<typeof TreeHeadNoun> {
  @PrimaryKey({ type: new BigIntType('number'), autoincrement: false })
  treeSize!: number;

  @Property({ type: 'smallint' })
  logId!: number;

  @Property({ type: 'text' })
  rootHash!: string;

  @Property({ type: 'text' })
  treeHeadHash!: string;

  @Property({ type: 'text' })
  kid!: string;

  @Property({ type: 'text' })
  jws!: string;

  @Property({ type: 'Date', columnType: 'timestamptz(3)' })
  at!: Date;
}
showMembers(TreeHead, TreeHeadNoun);

/** A declared break of the log: what was signed, what is left, which nodes of that are damaged, and why. Rows are only added. */
@Entity({ tableName: 'log_break' })
export class LogBreakRecord {
  @PrimaryKey({ type: 'integer' })
  breakId!: number;

  @Property({ type: 'json', nullable: true })
  saved!: JsonObject | null;

  @Property({ type: 'json' })
  found!: JsonObject;

  @Property({ type: 'json', nullable: true })
  damage!: JsonObject[] | null;

  @Property({ type: 'json', nullable: true })
  anchored!: JsonObject | null;

  @Property({ type: 'text' })
  reason!: string;

  @Property({ type: 'Date', columnType: 'timestamptz(3)' })
  declaredAt!: Date;

  @Property({ type: 'text' })
  kid!: string;

  @Property({ type: 'text' })
  jws!: string;

  /** `{count, agent_ids}` of books that had lost events; null if none had. */
  @Property({ type: 'json', nullable: true })
  books!: JsonObject | null;

  /** Whether all credentials ended with the declaration. False for breaks that were declared before this was recorded. */
  @Property({ type: 'boolean', default: false })
  credentialsEnded!: boolean;
}
