import { Entity, Index, PrimaryKey, Property } from '../table.ts';

/** Number of unpaid uses by a holder within one hour, which begins at `period`. */
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
