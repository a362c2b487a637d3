import { Entity, Index, PrimaryKey, Property } from '../table.ts';

/** How often a holder has done within an hour what nobody pays for. */
@Entity({ tableName: 'board_use' })
export class BoardUse {
  @PrimaryKey({ type: 'string', length: 80 })
  holder!: string;
  @PrimaryKey({ type: 'Date', columnType: 'timestamptz' })
  @Index({ name: 'board_use_period' })
  period!: Date;
  @Property({ type: 'integer' })
  uses!: number;
}
