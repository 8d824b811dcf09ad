#include "exec/available_memory.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "exec/memory.hpp"

namespace vicinal {

namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

// The number after `key` in a file of lines "key number …"; `otherwise` if there is none.
std::size_t number_after(const std::string& path, const std::string& key, std::size_t otherwise) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::size_t number = 0;
    if (word == key && file >> number) return number;
    file.clear();
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return otherwise;
}

// The number that a file consists of; unlimited if it is not a number ("max").
std::size_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? number : unlimited;
}

// A control group of Linux that limits the memory of this process.
struct ControlGroup {
  std::string folder;
  bool second;  // version 2 of control groups

  [[nodiscard]] std::size_t limit() const {
    return number_in(folder + (second ? "/memory.max" : "/memory.limit_in_bytes"));
  }
  // Pages of files, and pages that are marked as free, can be taken back.
  [[nodiscard]] std::size_t left() const {
    const std::size_t used = number_in(folder + (second ? "/memory.current" : "/memory.usage_in_bytes"));
    const std::string statistics = folder + "/memory.stat", prefix = second ? "" : "total_";
    const std::size_t reclaimable =
        number_after(statistics, prefix + "inactive_file", 0) + number_after(statistics, prefix + "active_file", 0);
    const std::size_t most = limit(), kept = used - std::min(used, reclaimable);
    return most - std::min(most, kept);
  }
};

// The groups with a limit below physical memory: that of the process, and those around it. In a container, paths may be
// those outside it: its own limit is then that of the root.
std::vector<ControlGroup> limiting_groups() {
  std::vector<ControlGroup> groups;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), last = line.find(':', first + 1);
    if (first == std::string::npos || last == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, last - first - 1);
    const bool second = controllers.empty();
    if (!second && controllers != "memory") continue;
    const std::string root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (std::string path = line.substr(last + 1);; path.erase(path.rfind('/'))) {
      const ControlGroup group{root + path, second};
      if (group.limit() < physical_memory()) groups.push_back(group);
      if (path.find('/') == std::string::npos) break;
    }
  }
  return groups;
}

std::atomic<std::size_t>& pretended() {
  static std::atomic<std::size_t> bytes{0};
  return bytes;
}

}  // namespace

std::size_t available_memory() {
  if (const std::size_t bytes = pretended(); bytes > 0) return bytes;
  constexpr std::size_t kilobyte = 1024;
  static const std::vector<ControlGroup> groups = limiting_groups();
  const std::size_t reported = number_after("/proc/meminfo", "MemAvailable:", physical_memory() / kilobyte);
  std::size_t least = reported * kilobyte;
  for (const ControlGroup& group : groups) least = std::min(least, group.left());
  return least;
}

void pretend_available_memory(std::size_t bytes) { pretended() = bytes; }

}  // namespace vicinal
