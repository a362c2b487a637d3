import { Migration } from '../../migration.ts';

/** Of an endpoint the host alone is kept: a path may hold a key, which would stand in every dump. */
export class BoardHosts extends Migration {
  override up(): void {
    this.addSql('alter table board_post drop column endpoint;');
  }
}
