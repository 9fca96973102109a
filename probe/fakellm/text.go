package fakellm

import "strings"

// english returns sentences cut into tokens: a word with the space before it, a mark by itself.
func english() [][]string {
	lines := []string{
		"The day begins long before sunrise , when the first lamp is lit and the old oven is still warm from the night .",
		"Flour , water and salt are weighed with care , because a small mistake in the morning is a large one at noon .",
		"Everybody knows the work , so few words are needed , and the room stays calm even when the orders pile up .",
		"While the dough rests , the tables are cleaned , the shelves are filled and the windows are opened for a while .",
		"By seven the door is open , and the first guests come in with cold hands and a friendly word .",
		"Later the tools are washed , the numbers are written into a book , and the list for the next day is pinned to the wall .",
		"What remains is shared among neighbours , which is an old habit in this part of the valley .",
	}
	list := make([][]string, len(lines))
	for i, line := range lines {
		for _, w := range strings.Fields(line) {
			if w != "," && w != "." {
				w = " " + w
			}
			list[i] = append(list[i], w)
		}
	}
	return list
}

// chinese returns sentences cut into tokens of one or two characters.
func chinese() [][]string {
	lines := []string{
		"天 还没 亮 ， 第一 盏 灯 就 点 起来 了 ， 炉子 还 带着 昨夜 的 余温 。",
		"面粉 、 清水 和 盐 都 要 仔细 称 好 ， 早上 的 小 差错 到 中午 就 成了 大 麻烦 。",
		"大家 都 熟悉 自己 的 活 ， 不用 多说 ， 再 忙 的 时候 屋里 也 很 安静 。",
		"趁着 面团 醒 着 ， 桌子 擦 干净 ， 架子 摆满 ， 窗户 打开 透 一会儿 气 。",
		"七点 钟 开门 ， 最早 的 客人 搓着 手 走进来 ， 说 一声 早上 好 。",
		"收工 以后 洗净 工具 ， 把 账目 记 在 本子 上 ， 明天 的 单子 钉 到 墙上 。",
	}
	list := make([][]string, len(lines))
	for i, line := range lines {
		list[i] = strings.Fields(line)
	}
	return list
}
