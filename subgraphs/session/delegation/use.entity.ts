import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** How often a session has done in an hour what nobody pays for. */
@Entity({ tableName: 'session_use' })
export class SessionUse {
  @PrimaryKey({ type: 'string', length: 80 })
  holder!: string;
  @PrimaryKey({ type: 'Date', columnType: 'timestamptz' })
  @Index({ name: 'session_use_period' })
  period!: Date;
  @Property({ type: 'integer' })
  uses!: number;
}
